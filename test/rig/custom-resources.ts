import type { PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.js';

/*
 * The fields that our manifests may use of resources which Kubernetes does not have by itself. A field that is missing
 * here is looked up in the resource's own definition before it is added.
 */

/** Temporal's worker controller, from version 1.7 on. */
export interface WorkerDeployment {
  apiVersion: 'temporal.io/v1alpha1';
  kind: 'WorkerDeployment';
  metadata: ObjectMeta;
  spec: {
    replicas?: number;
    template: PodTemplateSpec;
    workerOptions: { connectionRef: { name: string }; temporalNamespace: string };
    rollout: {
      strategy: 'Manual' | 'AllAtOnce' | 'Progressive';
      /** Required by `Progressive`. */
      steps?: { rampPercentage: number; pauseDuration: string }[];
    };
    sunset: { scaledownDelay?: string; deleteDelay?: string };
  };
}

/** Temporal's worker controller, from version 1.7 on. */
export interface Connection {
  apiVersion: 'temporal.io/v1alpha1';
  kind: 'Connection';
  metadata: ObjectMeta;
  spec: {
    hostPort: string;
    tls?: { serverName?: string };
    apiKeySecretRef?: { name: string; key: string };
    mutualTLSSecretRef?: { name: string };
  };
}

/** The Prometheus operator. */
export interface ServiceMonitor {
  apiVersion: 'monitoring.coreos.com/v1';
  kind: 'ServiceMonitor';
  metadata: ObjectMeta;
  spec: {
    selector: { matchLabels: Record<string, string> };
    jobLabel?: string;
    podTargetLabels?: string[];
    endpoints: { port: string; path?: string; interval?: string }[];
  };
}

/** The Prometheus operator. */
export interface PrometheusRule {
  apiVersion: 'monitoring.coreos.com/v1';
  kind: 'PrometheusRule';
  metadata: ObjectMeta;
  spec: {
    groups: {
      name: string;
      rules: {
        alert: string;
        expr: string;
        for?: string;
        labels: Record<string, string>;
        annotations: Record<string, string>;
      }[];
    }[];
  };
}

/** KEDA, from version 2.17 on. */
export interface ScaledObject {
  apiVersion: 'keda.sh/v1alpha1';
  kind: 'ScaledObject';
  metadata: ObjectMeta;
  spec: {
    scaleTargetRef: { name: string };
    minReplicaCount?: number;
    maxReplicaCount?: number;
    cooldownPeriod?: number;
    triggers: {
      type: 'temporal';
      metadata: { endpoint: string; namespace: string; taskQueue: string; queueTypes: string; targetQueueSize: string };
      authenticationRef?: { name: string };
    }[];
  };
}

/** KEDA, from version 2.17 on. */
export interface TriggerAuthentication {
  apiVersion: 'keda.sh/v1alpha1';
  kind: 'TriggerAuthentication';
  metadata: ObjectMeta;
  spec: { secretTargetRef: { parameter: string; name: string; key: string }[] };
}
