/** What really happened in the generated incident; everything else is made to hide it. */
export const INCIDENT = {
  service: 'checkout',
  day: '2026-03-14',
  /** When the log begins and how much of it there is. */
  logStart: Date.UTC(2026, 2, 14, 6),
  logLines: 300_000,
  /** Milliseconds from one line to the next. */
  lineStep: 80,
  failsFrom: Date.UTC(2026, 2, 14, 12, 0, 7),
  badVersion: '5.12.0',
  goodVersion: '5.11.3',
  badRegion: 'eu-west',
  deployId: 'dep-2391',
  deployedAt: '2026-03-14T11:58:41Z',
  author: 'm.okafor',
  change: 'Lower the payment pool from 64 to 4 connections to save memory',
  fault: 'payment-gateway: connection pool exhausted',
  alert: 'Payment pool exhausted',
} as const

export const SERVICES = [
  'checkout',
  'catalog',
  'search',
  'cart',
  'identity',
  'payments',
  'shipping',
  'pricing',
  'reviews',
  'mailer',
  'gateway',
  'reports',
] as const

export const REGIONS = ['eu-west', 'eu-north', 'us-east', 'us-west'] as const

/** The host of a service under a number; every fourth one stands in the same region. */
export const hostName = (service: string, number: number) =>
  `${service}-${String(number).padStart(4, '0')}`

export const regionOf = (number: number) => REGIONS[number % REGIONS.length] ?? REGIONS[0]
