import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort } from '../process/free-port.ts';

export interface CephAccess {
  port: number;
  accessKeyId: string;
  secretAccessKey: string;
}

/** Of each cluster: a monitor, one object store in memory, and the S3 gateway in front. */
const storeBytes = 4 * 1024 ** 3;
const portSpan = 100;

const cephConfig = (dir: string, fsid: string, ports: { first: number; s3: number }) => `
[global]
fsid = ${fsid}
mon_initial_members = a
mon_host = [v2:127.0.0.1:${ports.first},v1:127.0.0.1:${ports.first + 1}]
public_network = 127.0.0.0/8
cluster_network = 127.0.0.0/8
auth_cluster_required = cephx
auth_service_required = cephx
auth_client_required = cephx
auth_allow_insecure_global_id_reclaim = false
run_dir = ${dir}
admin_socket = ${dir}/$name.asok
log_file = ${dir}/$name.log
pid_file =
crash_dir = ${dir}
# One copy in one place, and nothing to spread.
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 1
osd_pool_default_pgp_num = 1
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_allow_pool_size_one = true
mon_max_pg_per_osd = 2000
mon_osd_min_up_ratio = 0
# The monitor agrees with itself at once.
paxos_propose_interval = 0.05
paxos_min_wait = 0.01
[mon]
mon_data = ${dir}/mon
mon_data_avail_warn = 1
mon_data_avail_crit = 1
[osd]
keyring = ${dir}/osd/keyring
osd_data = ${dir}/osd
osd_objectstore = memstore
memstore_device_bytes = ${storeBytes}
osd_class_load_list = *
osd_class_default_list = *
ms_bind_port_min = ${ports.first + 2}
ms_bind_port_max = ${ports.first + portSpan}
[client]
keyring = ${dir}/keyring
[client.admin]
rgw_frontends = beast endpoint=127.0.0.1:${ports.s3}
rgw_enable_usage_log = false
# What is deleted makes room at once, not hours later.
rgw_gc_obj_min_wait = 1
rgw_gc_processor_period = 1
rgw_dns_name = localhost
`;

/** Makes a cluster and runs it; whoever ends the script's process group ends all of it. */
const startScript = (dir: string, fsid: string, access: CephAccess) => `
set -e
cd '${dir}'
export CEPH_CONF='${dir}/ceph.conf'
ceph-authtool --create-keyring keyring --gen-key -n mon. --cap mon 'allow *'
ceph-authtool keyring --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *'
monmaptool --create --fsid ${fsid} --addv a "$(sed -n 's/^mon_host = //p' ceph.conf)" monmap
ceph-mon --mkfs -i a --monmap monmap --keyring keyring
ceph-mon -f -i a &
store=$(cat /proc/sys/kernel/random/uuid)
ceph-authtool --create-keyring osd/keyring --gen-key -n osd.0
printf '{"cephx_secret":"%s"}' "$(ceph-authtool osd/keyring -n osd.0 -p)" | ceph osd new "$store" 0 -i -
ceph-osd -i 0 --mkfs --osd-uuid "$store"
ceph-osd -f -i 0 &
radosgw-admin -n client.admin user create --uid=backlot --display-name=backlot \\
  --access-key=${access.accessKeyId} --secret-key="$(cat secret)"
radosgw -f -n client.admin &
wait
`;

export const cephPrograms = ['radosgw', 'ceph-mon', 'ceph-osd', 'ceph', 'radosgw-admin'];
export const cephPackages = 'radosgw ceph-mon ceph-osd ceph-common';

/** Writes down a cluster of one machine, to be run by /bin/sh. Answers the script's path. */
export const prepareCeph = async (dir: string, access: CephAccess): Promise<string> => {
  const fsid = randomUUID();
  const first = await findFreePort(26_000 + Math.floor(Math.random() * 30) * portSpan);
  for (const folder of ['mon', 'osd']) await mkdir(join(dir, folder), { recursive: true });
  const script = join(dir, 'ceph.sh');
  await writeFile(join(dir, 'ceph.conf'), cephConfig(dir, fsid, { first, s3: access.port }));
  await writeFile(join(dir, 'secret'), access.secretAccessKey, { mode: 0o600 });
  await writeFile(script, startScript(dir, fsid, access), { mode: 0o700 });
  return script;
};
