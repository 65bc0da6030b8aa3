export { fileMedia } from './file-media.ts'
export { type FileSpoolOptions, fileSpool } from './file-spool.ts'
