export { type S3Client, type S3Spool, type S3SpoolOptions, s3Spool } from './s3-spool.ts'
