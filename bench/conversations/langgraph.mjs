export { fill, reopen } from '../peers/langgraph-sqlite.mjs'
