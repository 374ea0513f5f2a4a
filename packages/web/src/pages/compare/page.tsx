import './compare.css'

/** The page Compare. */
export default function Page() {
  return (
    <div class="head">
      <h1>Compare</h1>
    </div>
  )
}
