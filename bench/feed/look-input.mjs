/** The input of the tool that both kits have. */
export const lookInput = {
  type: 'object',
  properties: { at: { type: 'number' } },
  required: ['at'],
}
