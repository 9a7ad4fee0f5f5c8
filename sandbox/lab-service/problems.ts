/** A field fault as the service reports it. `ctx` is there only for the kinds that carry one. */
export interface FieldIssue {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

/** Any answer of the service other than success; routes throw it, the server writes it. A string body is plain text. */
export class ServiceProblem extends Error {
  override readonly name = 'ServiceProblem';
  readonly status: number;
  readonly body: object | string;

  constructor(status: number, body: object | string) {
    super(`the stand-in answers ${status}`);
    this.status = status;
    this.body = body;
  }
}

/** `{detail}` with a sentence. */
export function refusal(status: number, detail: string): ServiceProblem {
  return new ServiceProblem(status, { detail });
}

/** 422 with the list of field faults. */
export function invalidFields(issues: readonly FieldIssue[]): ServiceProblem {
  return new ServiceProblem(422, { detail: issues });
}

/** The fault of a value that is well formed and still cannot be accepted. */
export function valueError(message: string): Pick<FieldIssue, 'type' | 'msg' | 'ctx'> {
  return { type: 'value_error', msg: `Value error, ${message}`, ctx: { error: {} } };
}

/** 422 for one field with such a fault. */
export function unacceptable(loc: readonly (string | number)[], message: string, input: unknown): ServiceProblem {
  return invalidFields([{ ...valueError(message), loc, input }]);
}
