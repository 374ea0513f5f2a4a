import { statementsMigration } from './statements-migration.ts'

const derived = `trace_id text not null, span_id text not null, parent_span_id text not null, span_row_id integer not null`
const timed = `${derived}, service_id integer not null, status text, is_final integer not null, start_ns integer not null,
  end_ns integer not null`

const statements = [
  `create table pipeline_runs (
    id integer primary key autoincrement, ${timed}, is_child integer not null, name text, project text, project_name text,
    namespace text, project_url text, pipeline_id text, pipeline_iid integer, ref text, sha text, title text,
    trigger_type text, username text, url text, busy_seconds real, queue_seconds real, coverage real,
    jobs integer not null, jobs_failed integer not null, failed_jobs_json text not null, shape_json text not null)`,
  'create unique index pipeline_runs_by_span on pipeline_runs (trace_id, span_id)',
  'create index pipeline_runs_by_arrival on pipeline_runs (span_row_id)',
  // Holds every column that lists and percentiles filter by, so that they do not read the rows that they skip.
  `create index pipeline_runs_by_start on pipeline_runs (
    start_ns, id, is_child, service_id, status, is_final, project, project_name, ref, end_ns, busy_seconds, queue_seconds)`,
  `create table pipeline_jobs (
    id integer primary key autoincrement, ${timed}, run_id integer, name text not null, stage text, job_id text,
    is_bridge integer not null, has_run integer not null, is_manual integer not null, allow_failure integer not null,
    failure_reason text, attempt integer, duration_seconds real, queue_seconds real, critical_seconds real not null,
    runner_id text, runner_name text, runner_tags_json text, environment text, username text, url text, coverage real)`,
  'create unique index pipeline_jobs_by_span on pipeline_jobs (trace_id, span_id)',
  'create index pipeline_jobs_by_arrival on pipeline_jobs (span_row_id)',
  'create index pipeline_jobs_by_run on pipeline_jobs (run_id)',
  `create table pipeline_stages (id integer primary key autoincrement, ${derived})`,
  'create unique index pipeline_stages_by_span on pipeline_stages (trace_id, span_id)',
  'create index pipeline_stages_by_arrival on pipeline_stages (span_row_id)',
  'create table pipeline_rereads (id integer primary key, before_span_row_id integer not null)',
  // The writer reads spans that are stored already in the background, the latest first.
  'insert into pipeline_rereads (before_span_row_id) select max(id) + 1 from spans having max(id) is not null',
]

/** The tables of pipeline runs and jobs. */
export const pipelineMigration = statementsMigration(statements)

const factStatements = [
  `create table pipeline_facts (
    id integer primary key autoincrement, run_id integer not null unique, facts_json text not null, jobs blob not null)`,
  // All facts are derived from the spans that are stored already.
  'delete from pipeline_rereads',
  'insert into pipeline_rereads (before_span_row_id) select max(id) + 1 from spans having max(id) is not null',
]

/** The table of facts for statistics. */
export const pipelineFactsMigration = statementsMigration(factStatements)

const searchIndex = [
  'drop index pipeline_runs_by_start',
  // Holds every column that lists filter by and search in, so that they do not read the rows that they skip.
  `create index pipeline_runs_by_start on pipeline_runs (
    start_ns, id, is_child, service_id, status, project, project_name, ref, name, username, title)`,
]

const runKinds = [
  'alter table pipeline_runs add column ref_kind text',
  // The earlier runs that a run is compared with, in order of time. The statement that uses it has the same condition.
  `create index successful_runs_by_kind on pipeline_runs (
    project, ref_kind, name, trigger_type, service_id, start_ns, id) where status = 'success' and is_child = 0`,
  // Has the name, so that the runs with a job are found without reading jobs.
  'drop index pipeline_jobs_by_run',
  'create index pipeline_jobs_by_run on pipeline_jobs (run_id, name)',
  // The kinds of refs are read from the spans that are stored already.
  'delete from pipeline_rereads',
  'insert into pipeline_rereads (before_span_row_id) select max(id) + 1 from spans having max(id) is not null',
]

const runForges = [
  'alter table pipeline_runs add column forge text',
  ...searchIndex.map((statement) => statement.replace('ref, name,', 'ref, forge, name,')),
  // The forges are read from the spans that are stored already; until then, they are unknown.
  'delete from pipeline_rereads',
  'insert into pipeline_rereads (before_span_row_id) select max(id) + 1 from spans having max(id) is not null',
]

/** Adds the forge of runs, also to the index for lists. */
export const runForgeMigration = statementsMigration(runForges)

/** Adds the column and the index by which the earlier runs are found that a run is compared with. */
export const runKindMigration = statementsMigration(runKinds)

/** The index for lists of runs and for searches in their texts. */
export const pipelineSearchMigration = statementsMigration(searchIndex)
