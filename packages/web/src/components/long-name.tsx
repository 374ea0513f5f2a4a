import { shortenedName } from './shortened-name.ts'

/** A name in a cell of a table: it takes two lines at most, and its end can be seen, because the ends of long names tell them apart. */
export function LongName({ text }: { readonly text: string }) {
  const short = shortenedName(text)
  return (
    <bdi class="long-name" title={short === text ? undefined : text}>
      {short}
    </bdi>
  )
}
