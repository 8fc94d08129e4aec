import Fieldwork
import Foundation
import Synchronization

/// A sign-in on the portal's own page, in the browser: the app never sees the password. One at a time; a new one ends the former.
final class BrowserSignIn: Sendable {
    enum Progress: Sendable {
        case starting
        /// The portal's page waits for the person.
        case open(URL)
        case failed(String)
        case done(ArcGISCredential)

        var isFailure: Bool { if case .failed = self { true } else { false } }
    }

    private struct State {
        var id: UUID?
        var progress = Progress.starting
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())

    /// Where the SDK listens for the browser, at a free port of this device.
    private static let redirect = URL(string: "http://127.0.0.1/signed-in") ?? URL(filePath: "/")

    /// Begins a sign-in, and returns under what it is asked for.
    func begin(at server: URL) -> UUID {
        let id = UUID()
        let task = Task { [weak self] in
            let limit = Task { [weak self] in
                try await Task.sleep(for: .seconds(Limits.browserSignInSeconds))
                self?.end(id, .failed("Nobody signed in for ten minutes."))
            }
            defer { limit.cancel() }
            let configuration = OAuthUserConfiguration(
                portalURL: server, clientID: "fieldwork", redirectURL: Self.redirect)
            do {
                let credential = try await OAuthUserCredential.credential(for: configuration) { [weak self] page in
                    self?.note(id, .open(page.url))
                    return nil
                }
                self?.note(id, .done(credential))
            } catch is CancellationError {
                self?.note(id, .failed("The sign-in was cancelled."))
            } catch {
                self?.note(id, .failed((error as? any ArcGISError)?.details ?? "\(error)"))
            }
        }
        let former = state.withLock { state in
            let former = state.task
            state = State(id: id, task: task)
            return former
        }
        former?.cancel()
        return id
    }

    private func note(_ id: UUID, _ progress: Progress) {
        state.withLock { state in
            // Why it failed stays: what the end of its work says comes later.
            guard state.id == id, !state.progress.isFailure else { return }
            state.progress = progress
        }
    }

    private func end(_ id: UUID, _ progress: Progress) {
        let task = state.withLock { state -> Task<Void, Never>? in
            guard state.id == id else { return nil }
            let task = state.task
            state = State(id: id, progress: progress)
            return task
        }
        task?.cancel()
    }

    /// How far a sign-in is; nil for one that isn't known, or not any more.
    func progress(_ id: UUID) -> Progress? {
        state.withLock { $0.id == id ? $0.progress : nil }
    }

    /// The sign-in is used: it is known no more.
    func forget(_ id: UUID) {
        state.withLock { state in
            if state.id == id { state = State() }
        }
    }
}
