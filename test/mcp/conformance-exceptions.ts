/** Scenarios of the official suite that do not pass, each with its reason; a test holds the list to be exact. */
const NO_TASKS = 'an extension that is not offered'
const NO_PROMPTS = 'prompts are not offered'
const NO_FIXTURE = 'wants fixed resources; the server offers results of calls only'
const NO_SAMPLING = 'sampling, roots, logging and completion are not offered'
const ONE_QUESTION = 'a gate asks one question at a time, under its own id'
const STATELESS =
  'protocols before 2026-07-28 are served without sessions over HTTP, so that the server cannot ask there; over stdio it can'

export const CLIENT_EXCEPTIONS: Readonly<Record<string, string>> = {}

export const SERVER_EXCEPTIONS: Readonly<Record<string, string>> = {
  caching: NO_PROMPTS,
  'completion-complete': NO_SAMPLING,
  'elicitation-sep1034-defaults': STATELESS,
  'elicitation-sep1330-enums': STATELESS,
  'http-custom-header-server-validation':
    'served tools ask for no headers, so nothing can be tested',
  'input-required-result-basic-elicitation': ONE_QUESTION,
  'input-required-result-basic-list-roots': NO_SAMPLING,
  'input-required-result-basic-sampling': NO_SAMPLING,
  'input-required-result-capability-check': NO_SAMPLING,
  'input-required-result-multiple-input-requests': ONE_QUESTION,
  'input-required-result-non-tool-request': NO_PROMPTS,
  'logging-set-level': NO_SAMPLING,
  'prompts-get-embedded-resource': NO_PROMPTS,
  'prompts-get-simple': NO_PROMPTS,
  'prompts-get-with-args': NO_PROMPTS,
  'prompts-get-with-image': NO_PROMPTS,
  'prompts-list': NO_PROMPTS,
  'resources-read-binary': NO_FIXTURE,
  'resources-read-text': NO_FIXTURE,
  'resources-subscribe': NO_FIXTURE,
  'resources-templates-read': NO_FIXTURE,
  'resources-unsubscribe': NO_FIXTURE,
  'server-stateless': 'two of 28 checks want a tool that needs sampling, and one that logs',
  'tasks-capability-negotiation': NO_TASKS,
  'tasks-dispatch-and-envelope': NO_TASKS,
  'tasks-lifecycle': NO_TASKS,
  'tasks-mrtr-composition': NO_TASKS,
  'tasks-mrtr-input': NO_TASKS,
  'tasks-request-headers': NO_TASKS,
  'tasks-request-state-removal': NO_TASKS,
  'tasks-required-task-error': NO_TASKS,
  'tasks-wire-fields': NO_TASKS,
  'tools-call-elicitation': STATELESS,
  'tools-call-sampling': NO_SAMPLING,
  'tools-call-with-logging': NO_SAMPLING,
}
