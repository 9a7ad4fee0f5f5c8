-- The roles of the worker, the ingress, the readers of health data, the codec server and auditors: psql -f deploy/database-roles.sql, as a user who may create roles.
-- They own nothing and may create nothing. `labops migrate` gives them their rights on the tables (store/tables.ts), at each release.
-- They have no passwords: give each its own (\password lab_worker). Roles belong to the whole server: one server for each installation.
do $$
declare
  role text;
begin
  foreach role in array array['lab_worker', 'lab_ingress', 'lab_reader', 'lab_codec', 'lab_auditor'] loop
    if not exists (select from pg_catalog.pg_roles where rolname = role) then
      execute format('create role %I login', role);
    end if;
  end loop;
end $$;
