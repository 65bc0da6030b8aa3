// Payloads of the protocol, as its server sends and takes them.

const talk = [
  { who: 'user', say: 'Weather in Oslo and Rome?' },
  {
    who: 'model',
    think: 'Two cities.',
    proof: 'c2VjcmV0',
    ask: [
      { ref: 'r1', verb: 'weather', with: { city: 'Oslo' } },
      { ref: 'r2', verb: 'weather', with: { city: 'Rome' } },
    ],
  },
  {
    who: 'tools',
    gave: [
      { ref: 'r1', text: '4 C' },
      { ref: 'r2', text: 'No such station.', failed: true },
    ],
  },
  { who: 'model', say: '4 C in Oslo.' },
  { who: 'user', say: 'Thanks.' },
]

const events = [
  { think: 'Two ' },
  { think: 'cities.' },
  { proof: 'c2VjcmV0' },
  { say: 'I look.' },
  { ask: { ref: 'r1', verb: 'weather', with: { city: 'Oslo' } } },
  { ask: { ref: 'r2', verb: 'weather', with: { city: 'Rome' } } },
]

export const fixtures = [
  {
    title: 'a talk with calls and results',
    api: 'parley',
    kind: 'history',
    covers: ['ask', 'gave'],
    payload: { talk },
    items: ['message', 'thought', 'call', 'call', 'message', 'message'],
    calls: [
      { id: 'r1', tool: 'weather', args: { city: 'Oslo' }, result: { isError: false } },
      { id: 'r2', tool: 'weather', args: { city: 'Rome' }, result: { isError: true } },
    ],
    accepted: true,
    echo: talk,
  },
  {
    title: 'a response with a call',
    api: 'parley',
    kind: 'response',
    covers: ['ask'],
    payload: {
      who: 'model',
      id: 'm1',
      say: 'I look.',
      ask: [{ ref: 'r1', verb: 'weather', with: { city: 'Oslo' } }],
      end: 'asks',
    },
    calls: [{ id: 'r1', executedBy: 'runner' }],
  },
  {
    title: 'a stream with calls',
    api: 'parley',
    kind: 'stream',
    covers: ['ask'],
    events: [...events, { end: 'asks' }],
  },
  {
    title: 'a stream that was cut by length',
    api: 'parley',
    kind: 'stream',
    covers: ['ask'],
    events: [...events, { end: 'cut' }],
  },
  {
    title: 'a turn of an unknown kind',
    api: 'parley',
    kind: 'history',
    covers: [],
    payload: {
      talk: [
        { who: 'user', say: 'Hi.' },
        { who: 'chorus', song: 'la' },
      ],
    },
    items: ['message', 'raw'],
    echo: [
      { who: 'user', say: 'Hi.' },
      { who: 'chorus', song: 'la' },
    ],
  },
]
