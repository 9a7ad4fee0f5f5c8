import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import satisfies from 'spdx-satisfies';

/** A package that runs in production, with its licence as an SPDX expression. */
export interface LicensedPackage {
  /** `<name>@<version>` */
  id: string;
  /** Undefined if the package states none. */
  licence: string | undefined;
}

/** The licences that a production dependency may have: all permit use in any product, also in a closed one. */
const allowedLicences = [
  ...['MIT', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'Unlicense', 'Apache-2.0', 'CC0-1.0'],
  // For data: of caniuse-lite, the table of browsers that the bundler reads.
  'CC-BY-4.0',
];

/** Packages without the field `license`, by name, with the licence that the file in the package states. */
const statedInAFile: Record<string, string> = { unionfs: 'Unlicense' };

interface Component {
  'bom-ref': string;
  name: string;
  licenses?: readonly { license?: { id?: string; name?: string }; expression?: string }[];
  properties?: readonly { name: string; value: string }[];
}

/** Reads the production dependencies from the bill of materials that `npm run sbom` prints. */
export async function productionPackages(folder: string): Promise<LicensedPackage[]> {
  // Not `--omit=dev`: that also leaves out what production and development share.
  const { stdout } = await promisify(execFile)('npm', ['sbom', '--sbom-format=cyclonedx'], {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
  });
  const { components } = JSON.parse(stdout) as { components: Component[] };
  return components
    .filter(({ properties = [] }) => !properties.some(({ name }) => name === 'cdx:npm:package:development'))
    .map((component) => ({ id: component['bom-ref'], licence: licenceOf(component) }));
}

function licenceOf({ name, licenses = [] }: Component): string | undefined {
  const stated = licenses.map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? 'unknown');
  return stated.length === 0 ? statedInAFile[name] : stated.join(' AND ');
}

/** The packages whose licence is not on the list, or is not known. */
export function notAllowed(packages: readonly LicensedPackage[]): LicensedPackage[] {
  return packages.filter(({ licence }) => licence === undefined || !isAllowed(licence));
}

function isAllowed(licence: string): boolean {
  try {
    return satisfies(licence, allowedLicences);
  } catch {
    return false; // Not an SPDX expression, such as `SEE LICENSE IN …`.
  }
}
