/** A clock that all processes of a machine share (on Linux; elsewhere latencies mean nothing). */
export const microseconds = () => Number(process.hrtime.bigint() / 1000n)
