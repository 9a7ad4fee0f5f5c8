/* For workflows, which may not import service/. */
export { isObject, omitNullish } from '../service/json-object.js';
