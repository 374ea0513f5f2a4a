/** The messages of failed validations that several areas share. */
export const errorTexts = {
  blank: "can't be blank",
  taken: 'has already been taken',
  invalid: 'is invalid',
  tooLong: (maxCharacters: number) => `is too long (maximum is ${maxCharacters} characters)`,
} as const
