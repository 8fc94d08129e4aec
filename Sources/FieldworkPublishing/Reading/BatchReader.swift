import Dispatch
package import FieldworkREST
import Foundation
import Synchronization

/// A piece of a source, read ahead while the one before it is written.
package struct FeatureBatch: Sendable {
    package var adds: [FeatureEdit] = []
    /// Where each of the adds stands in the source.
    package var places: [Int] = []
    package var badRows: [(place: Int, row: BadRow)] = []
}

/// Turns a source's callback into batches that are taken one after the other.
package enum BatchReader {
    package static func batches(
        of source: any FeatureSource, _ schema: SourceSchema, size: Int, gate: BatchGate
    ) -> AsyncThrowingStream<FeatureBatch, any Error> {
        AsyncThrowingStream { continuation in
            continuation.onTermination = { _ in gate.stop() }
            Thread {
                do {
                    var batch = FeatureBatch()
                    try source.forEach(schema) { row, place in
                        switch row {
                        case .success(let feature):
                            batch.adds.append(feature)
                            batch.places.append(place)
                        case .failure(let bad): batch.badRows.append((place, bad))
                        }
                        if batch.adds.count + batch.badRows.count >= size {
                            guard gate.waitForTurn() else { throw CancellationError() }
                            continuation.yield(batch)
                            batch = FeatureBatch()
                        }
                    }
                    if !batch.adds.isEmpty || !batch.badRows.isEmpty { continuation.yield(batch) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }.start()
        }
    }
}

/// Lets a reader be one batch ahead of the writer, no more: memory stays bounded.
package final class BatchGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 1)
    private let isStopped = Atomic(false)

    /// The writer has taken a batch.
    package func open() { semaphore.signal() }

    /// Waits until another batch may be handed over; false when nobody wants it any longer.
    package func waitForTurn() -> Bool {
        semaphore.wait()
        return !isStopped.load(ordering: .acquiring)
    }

    package func stop() {
        isStopped.store(true, ordering: .releasing)
        semaphore.signal()
    }
}
