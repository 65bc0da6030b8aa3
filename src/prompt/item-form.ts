/** How an item is shown: as it is (a call as its record's `inline` says), or a call as its handle, to save room. */
export type ItemForm = 'full' | 'handle'
