/** Scenarios of the official suite that do not pass, each with its reason; a test holds the list to be exact. */
const NO_TASKS = 'an extension that is not offered'
const NO_PROMPTS = 'prompts are not offered'
const NO_FIXTURE = 'reads resources of fixed addresses; the server offers results of calls only'
const NO_SUBSCRIPTION = 'a result of a call never changes, so there is nothing to subscribe to'
const NO_SAMPLING = 'the server never asks for a completion of the client: it has its own models'
const NO_ROOTS = 'the server never asks for the folders of the client'
const NO_LOGGING = 'the server sends no log messages'

export const CLIENT_EXCEPTIONS: Readonly<Record<string, string>> = {}

export const SERVER_EXCEPTIONS: Readonly<Record<string, string>> = {
  caching: 'one of 7 checks reads `prompts/list`, and prompts are not offered',
  'completion-complete':
    'completes parts of prompts and of addresses; prompts are not offered, and an address is a secret',
  'input-required-result-basic-elicitation':
    'wants its question under the key `user_name`; the key of a question is the id of its gate',
  'input-required-result-basic-list-roots': NO_ROOTS,
  'input-required-result-basic-sampling': NO_SAMPLING,
  'input-required-result-capability-check':
    'wants a question by sampling for a client that has only that; forms are refused to it, as they must be',
  'input-required-result-multiple-input-requests':
    'wants a form, a sampling and the roots at once; a gate asks one question at a time',
  'input-required-result-non-tool-request': 'asks from `prompts/get`, and prompts are not offered',
  'logging-set-level': NO_LOGGING,
  'prompts-get-embedded-resource': NO_PROMPTS,
  'prompts-get-simple': NO_PROMPTS,
  'prompts-get-with-args': NO_PROMPTS,
  'prompts-get-with-image': NO_PROMPTS,
  'prompts-list': NO_PROMPTS,
  'resources-read-binary': NO_FIXTURE,
  'resources-read-text': NO_FIXTURE,
  'resources-subscribe': NO_SUBSCRIPTION,
  'resources-templates-read': NO_FIXTURE,
  'resources-unsubscribe': NO_SUBSCRIPTION,
  'server-stateless':
    'one of 29 checks wants a tool that needs sampling; for one that needs forms the error is right',
  'tasks-capability-negotiation': NO_TASKS,
  'tasks-dispatch-and-envelope': NO_TASKS,
  'tasks-lifecycle': NO_TASKS,
  'tasks-mrtr-composition': NO_TASKS,
  'tasks-mrtr-input': NO_TASKS,
  'tasks-request-headers': NO_TASKS,
  'tasks-request-state-removal': NO_TASKS,
  'tasks-required-task-error': NO_TASKS,
  'tasks-wire-fields': NO_TASKS,
  'tools-call-sampling': NO_SAMPLING,
  'tools-call-with-logging': NO_LOGGING,
}
