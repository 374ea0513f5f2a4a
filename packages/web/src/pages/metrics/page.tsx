/** The page Metrics. */
export default function Page() {
  return (
    <div class="head">
      <h1>Metrics</h1>
    </div>
  )
}
