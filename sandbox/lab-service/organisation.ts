import { randomBytes } from 'node:crypto';
import type { Clock } from './clock.js';
import type { Json } from './order-body.js';
import { labAccounts, inventedTeamId, type LabAccount } from './seed.js';
import { newId } from './state.js';

/** The stand-in's one organisation. Its id never changes. */
export const inventedOrgId = '0c9a0000-0000-4000-8000-000000000001';
/** The place that the stand-in plays: its keys open the team API, and its endpoints get the deliveries. */
export const playedPlace = { teamId: inventedTeamId, environment: 'sandbox', region: 'us' } as const;

export interface Team {
  readonly id: string;
  readonly region: string;
  readonly createdAt: number;
  name: string;
  integrationTeamId: string | null;
  /** By environment; their form is not documented. */
  settings: Readonly<Record<'sandbox' | 'production', Json>>;
}

export const roles = ['org_admin', 'team_admin'] as const;

export interface ManagementKey {
  readonly id: string;
  readonly role: (typeof roles)[number];
  readonly key: string;
  readonly createdAt: number;
  readonly creator: Json;
  label: string;
  /** The teams that a team key reaches; null for an org key. */
  teamIds: readonly string[] | null;
}

export interface TeamApiKey {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly teamId: string;
  readonly environment: string;
  readonly region: string;
  readonly createdAt: number;
}

/** The organisation that the management API manages, in memory. */
export class Organisation {
  readonly teams = new Map<string, Team>();
  readonly managementKeys = new Map<string, ManagementKey>();
  readonly teamApiKeys = new Map<string, TeamApiKey>();
  readonly #clock: Clock;
  /** Teams that may order on an account, where they were changed. */
  readonly #allowed = new Map<string, readonly string[]>();

  /** @param firstKey the org key that is there from the start; without one nobody can manage anything */
  constructor(clock: Clock, firstKey: string | undefined) {
    this.#clock = clock;
    const { teamId: id, region } = playedPlace;
    const settings = { sandbox: {}, production: {} };
    this.addTeam({ id, region, name: 'Invented team', integrationTeamId: null, settings });
    if (firstKey === undefined) return;
    const label = 'Invented first key';
    this.addManagementKey({ label, role: 'org_admin', teamIds: null }, { type: 'service_staff' }, firstKey);
  }

  addTeam(team: Omit<Team, 'createdAt'>): Team {
    const added = { ...team, createdAt: this.#clock.now() };
    this.teams.set(team.id, added);
    return added;
  }

  addManagementKey(
    request: Pick<ManagementKey, 'label' | 'role' | 'teamIds'>,
    creator: Json,
    key = `mk_${random()}`,
  ): ManagementKey {
    const added = { ...request, id: newId(), key, createdAt: this.#clock.now(), creator };
    this.managementKeys.set(added.id, added);
    return added;
  }

  addTeamApiKey(request: Omit<TeamApiKey, 'id' | 'value' | 'createdAt'>): TeamApiKey {
    const added = { ...request, id: newId(), value: `sk_${request.region}_${random()}`, createdAt: this.#clock.now() };
    this.teamApiKeys.set(added.id, added);
    return added;
  }

  managerWith(key: string): ManagementKey | undefined {
    return [...this.managementKeys.values()].find((other) => other.key === key);
  }

  /** True if this team API key opens the played team's API. */
  opensTeamApi(key: string): boolean {
    return [...this.teamApiKeys.values()].some(
      ({ value, teamId, environment, region }) =>
        value === key &&
        teamId === playedPlace.teamId &&
        environment === playedPlace.environment &&
        region === playedPlace.region,
    );
  }

  labAccounts(): LabAccount[] {
    return labAccounts.map((account) => ({
      ...account,
      team_id_allowlist: this.#allowed.get(account.id) ?? account.team_id_allowlist,
    }));
  }

  allow(accountId: string, teamIds: readonly string[]): void {
    this.#allowed.set(accountId, teamIds);
  }
}

function random(): string {
  return randomBytes(18).toString('base64url');
}
