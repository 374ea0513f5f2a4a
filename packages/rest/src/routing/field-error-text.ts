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
