/**
 * Returns a function that formats field errors as one text, as GitLab does in some areas:
 * `Failed to create milestone {:title=>["can't be blank"]}`.
 */
export const fieldErrorText =
  (prefix: string) =>
  (fields: Readonly<Record<string, readonly string[]>>): string => {
    const entries = Object.entries(fields).map(([name, messages]) => {
      const texts = messages.map((message) => JSON.stringify(message))
      return `:${name}=>[${texts.join(', ')}]`
    })
    return `${prefix} {${entries.join(', ')}}`
  }

/** Returns field errors as one text each: `Title can't be blank`, `Content is too long`. */
export const eachFullMessage = (fields: Readonly<Record<string, readonly string[]>>): string[] =>
  Object.entries(fields).flatMap(([name, messages]) =>
    messages.map((message) => (name === 'base' ? message : `${nounOf(name)} ${message}`)),
  )

/** Returns field errors as one text: `Title can't be blank and Content is too long`. */
export const fullMessages = (fields: Readonly<Record<string, readonly string[]>>): string =>
  new Intl.ListFormat('en').format(eachFullMessage(fields))

/** `file_name` → `File name`. */
const nounOf = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ')
