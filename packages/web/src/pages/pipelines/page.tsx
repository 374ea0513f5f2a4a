import './pipelines.css'

/** The page Pipelines. */
export default function Page() {
  return (
    <div class="head">
      <h1>Pipelines</h1>
    </div>
  )
}
