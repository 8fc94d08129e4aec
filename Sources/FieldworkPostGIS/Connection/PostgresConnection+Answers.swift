import CPostgres
import FieldworkStore
import Foundation

/// Waiting for the server, within the limits of the work that waits.
extension PostgresConnection {
    /// Sends SQL of ours and takes the last of its results.
    func answer(to sql: String) -> PostgresResult { answer { PQsendQuery(pointer, sql) } }

    /// Sends something and takes the last of its results. Nothing is taken for a connection that broke.
    func answer(sending send: () -> Int32) -> PostgresResult {
        begin()
        guard send() == 1 else { return PostgresResult(nil) }
        var last: OpaquePointer?
        while let result = nextResult() {
            PQclear(last)
            last = result
            // What begins a load gives no other result before that has ended.
            if PQresultStatus(result) == PGRES_COPY_IN || PQstatus(pointer) == CONNECTION_BAD { break }
        }
        return PostgresResult(last)
    }

    /// Makes the connection ready for the next thing to send.
    /// - Parameter most: bytes of the answer from which on it is cancelled.
    func begin(most: Int? = nil) {
        cancellationEnd = nil
        (mostBytes, receivedBytes) = (most, 0)
        // An answer that nobody has taken is thrown away, as libpq does with what comes before any plain command.
        if PQtransactionStatus(pointer) == PQTRANS_ACTIVE { PQclear(PQexec(pointer, "")) }
    }

    /// The next result of what was sent; nil after the last.
    func nextResult() -> OpaquePointer? {
        awaitAnswer()
        return PQgetResult(pointer)
    }

    /// The answer was cancelled, or would have been, for its bytes.
    var isTooLarge: Bool { mostBytes.map { receivedBytes > $0 } ?? false }

    /// Cancels what runs. Its end is waited for, but not for ever: after that the connection is given up.
    func cancel() {
        guard cancellationEnd == nil else { return }
        canceller.cancel()
        cancellationEnd = .now + .milliseconds(Limits.cancellationMilliseconds)
    }

    /// Waits until the server has sent what was asked for. When that must not go on, it is cancelled, and the server says so.
    private func awaitAnswer() {
        guard PQisBusy(pointer) == 1, cancellationEnd != nil || mostBytes != nil || watch?.hasLimits == true else {
            return
        }
        let began = ContinuousClock.now
        while PQisBusy(pointer) == 1 {
            if let cancellationEnd {
                guard .now < cancellationEnd else { return giveUp() }
            } else if watch?.isOver(waitingSince: began) == true {
                cancel()
            }
            var socket = pollfd(fd: PQsocket(pointer), events: Int16(POLLIN), revents: 0)
            poll(&socket, 1, Limits.watchMilliseconds)
            countBytes()
            guard PQconsumeInput(pointer) == 1 else { return }
        }
    }

    /// Counts what lies at the socket.
    private func countBytes() {
        guard mostBytes != nil else { return }
        var bytes: CInt = 0
        guard ioctl(PQsocket(pointer), UInt(FIONREAD), &bytes) == 0 else { return }
        receivedBytes += Int(bytes)
        if isTooLarge { cancel() }
    }

    /// The server does not end what it is doing: the connection is closed, and made anew at its next use. The server notices that
    /// as soon as it looks.
    private func giveUp() { shutdown(PQsocket(pointer), Int32(SHUT_RDWR)) }
}
