/** The page API keys. */
export default function Page() {
  return (
    <div class="head">
      <h1>API keys</h1>
    </div>
  )
}
