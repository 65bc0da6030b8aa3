import * as v from 'valibot'

const idText = v.pipe(v.string('must be a string'), v.nonEmpty('must not be empty'))

const rule = 'must be `{ gate, decidedBy }` or `{ grant }`'

/** What allowed a call: the decision of a person on its gate, or a standing approval. */
export const approvedByField = v.pipe(
  v.union(
    [v.strictObject({ gate: idText, decidedBy: idText }), v.strictObject({ grant: idText })],
    rule,
  ),
  v.transform((given): ApprovedBy => Object.freeze(given)),
)

/** What allowed a call: the decision of a person on its gate, or a standing approval. */
export type ApprovedBy =
  | { readonly gate: string; readonly decidedBy: string }
  | { readonly grant: string }
