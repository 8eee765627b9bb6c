// Is a value what psp.json says? Table-driven; the tables are psp_guards.ts. For tests and debug builds: a client
// trusts its server otherwise.

export type TypeCode = string | readonly [string, ...unknown[]];

export interface FieldCode {
  readonly type: TypeCode;
  readonly required?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
}

export type Schema = Readonly<Record<string, Readonly<Record<string, FieldCode>>>>;

const MAX_INTEGER = 2 ** 31 - 1;

function integerWithin(value: unknown, low: number, high: number): boolean {
  return Number.isInteger(value) && (value as number) >= low && (value as number) <= high;
}

function checkBase(tag: string, value: unknown, path: string): string | undefined {
  const fault = (ok: boolean, expected: string) => (ok ? undefined : `${path}: expected ${expected}`);
  switch (tag) {
    case "s":
      return fault(typeof value === "string", "string");
    case "b":
      return fault(typeof value === "boolean", "boolean");
    case "n":
      return fault(typeof value === "number", "number");
    case "i":
      return fault(integerWithin(value, -MAX_INTEGER - 1, MAX_INTEGER), "integer");
    case "u":
      return fault(integerWithin(value, 0, MAX_INTEGER), "integer");
    case "l":
      return fault(Number.isSafeInteger(value), "integer");
    case "0":
      return fault(value === null, "null");
    default:
      return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checkType(schema: Schema, type: TypeCode, value: unknown, path: string): string | undefined {
  if (typeof type === "string") return checkBase(type, value, path);
  switch (type[0]) {
    case "S":
      return check(schema, type[1] as string, value, path);
    case "a": {
      if (!Array.isArray(value)) return `${path}: expected array`;
      for (let i = 0; i < value.length; ++i) {
        const fault = checkType(schema, type[1] as TypeCode, value[i], `${path}[${i}]`);
        if (fault !== undefined) return fault;
      }
      return undefined;
    }
    case "m": {
      if (!isObject(value)) return `${path}: expected object`;
      for (const [key, item] of Object.entries(value)) {
        const fault = checkType(schema, type[1] as TypeCode, item, `${path}.${key}`);
        if (fault !== undefined) return fault;
      }
      return undefined;
    }
    case "=":
      return value === type[1] ? undefined : `${path}: expected ${JSON.stringify(type[1])}`;
    default: {
      let fault: string | undefined;
      for (const alternative of type.slice(1)) {
        fault = checkType(schema, alternative as TypeCode, value, path);
        if (fault === undefined) return undefined;
      }
      return fault;
    }
  }
}

function checkLimits(field: FieldCode, value: unknown, path: string): string | undefined {
  if (typeof value === "number") {
    if (field.minimum !== undefined && value < field.minimum) return `${path}: must be at least ${field.minimum}`;
    if (field.maximum !== undefined && value > field.maximum) return `${path}: must be at most ${field.maximum}`;
  }
  if (typeof value === "string" && field.maxLength !== undefined)
    if (new TextEncoder().encode(value).length > field.maxLength)
      return `${path}: must be at most ${field.maxLength} bytes long`;
  if (Array.isArray(value) && field.maxItems !== undefined && value.length > field.maxItems)
    return `${path}: must have at most ${field.maxItems} items`;
  return undefined;
}

/** Undefined when `value` is a valid structure of that name, else the place and the reason. */
export function check(schema: Schema, name: string, value: unknown, path: string = name): string | undefined {
  const fields = schema[name];
  if (fields === undefined) return `${path}: no such type: ${name}`;
  if (!isObject(value)) return `${path}: expected object`;
  for (const [key, field] of Object.entries(fields)) {
    const place = `${path}.${key}`;
    const item = Object.prototype.hasOwnProperty.call(value, key) ? value[key] : undefined;
    if (item === undefined || (item === null && field.required !== true)) {
      if (field.required === true) return `${place}: missing`;
      continue;
    }
    const fault = checkType(schema, field.type, item, place) ?? checkLimits(field, item, place);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
