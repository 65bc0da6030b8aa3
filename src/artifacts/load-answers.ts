/**
 * Loads everything that reads an artifact to answer a question, when the first question is asked. A page that
 * only shows records never downloads it.
 */
export const loadAnswers = () => import('./answers.ts')
