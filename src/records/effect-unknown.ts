/** What the model reads of a call that is in doubt. */
export const EFFECT_UNKNOWN =
  'It is not known whether it took effect. Do not repeat it blindly; check first.'
