/**
 * The gateway: the one door. It finds the project and the route, says who calls, counts the call and
 * hands it to a service with a signed identity. It owns no data, reads a body only where a call's price
 * depends on it, and knows no service but by its contract.
 */
export {
  type AddressBounds,
  addressSettings,
  defaultAddressBounds,
  readAddressBounds,
} from './addresses/address-bounds.ts';
export { callSettings, gatewaySettings, readCallSettings } from './config.ts';
export { hashToken } from './directory/hash-token.ts';
export * from './gateway.ts';
export * from './gateway-deps.ts';
export {
  type PublishedPackage,
  publishedPackages,
  readPublishedFiles,
} from './packages/published-files.ts';
export * from './upstream/http.ts';
export * from './upstream/in-process.ts';
export * from './upstream/upstream.ts';
