/**
 * What is wrong with which attribute, as one text: `Failed to create milestone {:title=>["can't be blank"]}`. For the areas
 * in which the platform says it so.
 *
 * @see spec/rest-part2-details.md 8.5
 */
export const fieldErrorText =
  (failed: string) =>
  (fields: Readonly<Record<string, readonly string[]>>): string => {
    const entries = Object.entries(fields).map(([name, messages]) => {
      const texts = messages.map((message) => JSON.stringify(message))
      return `:${name}=>[${texts.join(', ')}]`
    })
    return `${failed} {${entries.join(', ')}}`
  }
