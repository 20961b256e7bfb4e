"""How the embedded server is set up: small, quick on two cores, and as durable as any other PostgreSQL."""

from typing import Final

# fsync, synchronous_commit, full_page_writes and checksums keep their safe defaults.
SETTINGS: Final[dict[str, str]] = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "cluster_name": "yuzui",
    "shared_preload_libraries": "pg_stat_statements",
    "pg_stat_statements.max": "2000",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "effective_cache_size": "1GB",
    "work_mem": "8MB",
    "maintenance_work_mem": "64MB",
    "random_page_cost": "1.1",  # solid-state disks
    "jit": "off",  # compiling costs more than our short statements take
    "io_method": "sync",  # saves the I/O workers' processes; the data fits the cache
    "max_worker_processes": "4",
    "max_logical_replication_workers": "0",
    "max_parallel_workers_per_gather": "0",  # two cores are busy with requests; and containers have a small /dev/shm
    "max_parallel_maintenance_workers": "0",
    "autovacuum_max_workers": "2",
    "autovacuum_naptime": "30s",
    "checkpoint_timeout": "15min",
    "max_wal_size": "1GB",
    "max_wal_senders": "4",
    "track_io_timing": "on",
    "log_lock_waits": "on",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] %q%u@%d ",
    "log_timezone": "UTC",
    "timezone": "UTC",
}


def arguments(port: int) -> list[str]:
    """Command-line arguments of `postgres` for these settings."""
    flags = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
    return [*flags, "-p", str(port)]
