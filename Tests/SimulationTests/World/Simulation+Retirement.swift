import FieldworkStore
import Foundation

@testable import Fieldwork

/// Replicas that the service has struck off: their crews hand in what they have, and take the area offline anew.
extension Simulation {
    func retireReplica(_ index: Int) async {
        guard let id = devices[index].geodatabase?.syncID, !devices[index].isRetired else { return }
        note("the replica of \(devices[index].name) is struck off")
        do {
            guard try await server.store.retireReplica(id, of: OrchardService.name) else {
                return complain(.workGoesOn, "the service does not know the replica of \(devices[index].name)")
            }
            devices[index].isRetired = true
        } catch {
            complain(.workGoesOn, "a replica can't be struck off: \(error)")
        }
    }

    /// Who has handed in everything gives up a file whose replica is gone. What the service refuses stays, and so does the
    /// file.
    func startOver(_ index: Int) async {
        guard devices[index].isRetired, !devices[index].isBusy, let geodatabase = devices[index].geodatabase else {
            return
        }
        do {
            let isUnderWay = try geodatabase.openSession().replica?.pendingUpload != nil
            guard !isUnderWay, try await waiting(in: geodatabase).isEmpty else { return }
            await close(geodatabase)
            let file = devices[index].fileURL
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
        } catch {
            complain(.workGoesOn, "\(devices[index].name) can't give its file up: \(error)")
        }
        note("\(devices[index].name) starts over")
        // Its answer may have been lost: the service has what the file no longer had to send.
        saved.promise(devices[index].pending.handOver(except: []))
        devices[index].geodatabase = nil
        devices[index].isRetired = false
        devices[index].generation = 0
    }
}
