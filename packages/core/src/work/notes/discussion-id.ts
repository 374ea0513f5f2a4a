import type { Core } from '../../base/operations/context.ts'

const BYTES = 20

/** Returns the id of a new discussion: 40 hexadecimal digits. */
export const newDiscussionId = ({ randomBytes }: Pick<Core, 'randomBytes'>): string =>
  Buffer.from(randomBytes(BYTES)).toString('hex')
