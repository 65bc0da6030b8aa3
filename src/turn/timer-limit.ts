/** The longest time that timers take; more than three weeks. */
export const MAX_TIMER_MS = 2 ** 31 - 1
