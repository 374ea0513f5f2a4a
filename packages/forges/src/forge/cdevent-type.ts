/** Matches `dev.cdevents.<subject>.<predicate>.<version>`. */
const typePattern = /^dev\.cdevents\.([a-z]+\.[a-z]+)\.\d[\w.-]*$/

/** Returns the subject and predicate of a type of CDEvents, such as `pipelinerun.finished`; `undefined` for other types. */
export const eventName = (type: unknown): string | undefined =>
  typeof type === 'string' ? typePattern.exec(type)?.[1] : undefined

/** Returns whether a type is that of an event that is read. */
export const isReadEvent = (type: unknown): boolean =>
  ['pipelinerun.finished', 'taskrun.finished'].includes(eventName(type) ?? '')
