/**
 * True in `npm run test:deep`, which runs every file that imports this one a second time, in full. `npm test` takes a
 * sample, so that it stays short.
 */
export const isThorough = process.env['BOBBIN_TEST_RUNS'] === 'all'

/** How many random cases a test tries: all of them in the deep tests, an eighth in `npm test`. */
export const runs = (all: number): number => (isThorough ? all : Math.ceil(all / 8))

/** From one position of an exhaustive test to the next one that is tried. */
export const STEP = isThorough ? 1 : 11
