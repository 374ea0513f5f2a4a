import './ingest.css'

/** The page Ingest. */
export default function Page() {
  return (
    <div class="head">
      <h1>Ingest</h1>
    </div>
  )
}
