import { escapeCodePoint } from './visible-text.ts'

/**
 * Shows the first character of every chat-template marker as an escape. Servers that tokenize a prompt as
 * a whole treat such a string as the end of the message, even inside an envelope; some of them
 * normalise wide forms to plain ones first.
 */
export function escapeChatMarkers(text: string): string {
  const shown = BRACKET.test(text) ? text.replace(MARKERS, escapeFirst) : text
  return SPEAKERS.some((name) => shown.includes(name)) ? shown.replace(SPEAKER, escapeFirst) : shown
}

const escapeFirst = (marker: string) => escapeCodePoint(marker.charCodeAt(0))

const BRACKETED =
  'INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|ARGS|CALL_ID|THINK'
const TAGS =
  's|bos|eos|pad|unk|think|tool_calls?|tool_responses?|start_of_turn|end_of_turn|start_of_image|function_calls|function_results|antml:[a-z_]+'

const BRACKET = /[<[＜﹤［]/
const MARKERS = new RegExp(
  [
    // <|im_start|>, <|eot_id|>, <｜User｜>, <turn|>
    String.raw`[<＜﹤](?=[|｜]\S|[/／]?[a-z_]{1,32}[|｜][>＞﹥])`,
    String.raw`[<＜﹤](?=[<＜﹤][/／]?SYS[>＞﹥])`,
    String.raw`[<＜﹤](?=[/／]?(?:${TAGS})[\s>＞﹥])`,
    String.raw`[[［](?=[/／]?(?:${BRACKETED})[\]］])`,
  ].join('|'),
  'gi',
)

const SPEAKERS = ['Human', 'Assistant']
/** A speaker's name after an empty line, or at the start, which follows the header's line. */
const SPEAKER = /(?<=(?:^|\n\r?\n)\s{0,16})[HA](?=(?:uman|ssistant)[:：])/g
