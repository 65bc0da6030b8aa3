/** CPU time of this process in milliseconds: a bound on it holds on a busy machine too. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
