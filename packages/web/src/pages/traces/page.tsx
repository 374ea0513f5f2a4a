/** The page Traces. */
export default function Page() {
  return (
    <div class="head">
      <h1>Traces</h1>
    </div>
  )
}
