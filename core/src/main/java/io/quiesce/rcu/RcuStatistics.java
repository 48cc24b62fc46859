package io.quiesce.rcu;

import java.time.Duration;

/**
 * A glimpse of a domain. The figures are read one after another while others change them.
 *
 * @param gracePeriods grace periods that have ended
 * @param registeredReaders platform threads with a record, ended ones not yet noticed included
 * @param openCountedSections sections open on virtual threads (or any, in a sleepable domain)
 * @param pendingCallbacks callbacks queued and not yet run
 * @param pendingBlocks retired blocks not yet reclaimed
 * @param pendingBytes their bytes
 * @param oldestPending how long the oldest of them has waited, at most
 * @param stalls stall reports made
 * @param workers callback workers that run
 */
public record RcuStatistics(
    long gracePeriods,
    int registeredReaders,
    long openCountedSections,
    long pendingCallbacks,
    long pendingBlocks,
    long pendingBytes,
    Duration oldestPending,
    long stalls,
    int workers) {}
