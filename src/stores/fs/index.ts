export { fileMedia } from './file-media.ts'
export { type FileSpoolOptions, fileSpool } from './file-spool.ts'
export type { FileFacts, FileSystem, OpenFile } from './file-system.ts'
