import ArcGIS
import Foundation

/// The configuration of the collection app, with addresses of its own.
enum AppConfiguration {
    static let portalURL = URL(string: "https://www.example.org/portal") ?? URL(filePath: "/")
    static let webMapItemID = PortalItem.ID("0123456789abcdef0123456789abcdef")
    static let oAuthRedirectURL = URL(string: "data-collection://auth") ?? URL(filePath: "/")
    static let clientID = "data-collection"
}

/// How the collection app and samples of the vendor's SDK sign in and come to a portal's map: each declaration is used in
/// the way that they use it. That it compiles is the test.
@MainActor
final class PortalModel {
    let portal = Portal(url: AppConfiguration.portalURL, connection: .anonymous)
    let handler = AppChallengeHandler()
    private(set) var map: Map?

    func start() async {
        ArcGISEnvironment.apiKey = APIKey("key")
        if let key = LicenseKey("lite") { try? ArcGISEnvironment.setLicense(with: key) }
        ArcGISEnvironment.authenticationManager.arcGISAuthenticationChallengeHandler = handler
        ArcGISEnvironment.authenticationManager.networkAuthenticationChallengeHandler = handler
        do {
            ArcGISEnvironment.authenticationManager.arcGISCredentialStore = try await .makePersistent(
                access: .whenUnlockedThisDeviceOnly)
        } catch {
            print(error.localizedDescription)
        }
        await ArcGISEnvironment.authenticationManager.setNetworkCredentialStore(NetworkCredentialStore())
    }

    func open() async throws {
        guard let id = AppConfiguration.webMapItemID else { return }
        let webMapItem = PortalItem(portal: portal, id: id)
        let map = Map(item: webMapItem)
        try await map.load()
        self.map = map
        let sample = PortalItem(portal: .arcGISOnline(connection: .anonymous), id: id)
        _ = Map(item: sample)
        _ = FeatureLayer(item: sample)
        _ = FeatureLayer(item: sample, layerID: 0)
        _ = ServiceFeatureTable(portalItem: sample)
        _ = ServiceGeodatabase(portalItem: sample)
    }

    func signIn() async throws {
        let portal = Portal(url: AppConfiguration.portalURL, connection: .authenticated)
        try await portal.load()
        guard let user = portal.user else { return }
        print(user.fullName, user.username, user.email, portal.info?.organizationName ?? "")
        try await user.thumbnail?.load()
        let parameters = PortalQueryParameters.items(ofKinds: [.webMap], searchText: "trees")
        let resultSet = try await portal.findItems(queryParameters: parameters)
        for item in resultSet.results { print(item.id?.rawValue ?? "", item.title, item.snippet, item.owner) }
        if let next = resultSet.nextQueryParameters { _ = try await portal.findItems(queryParameters: next) }
        for item in try await user.content.items { try await user.delete(item) }
        try await map?.save(to: portal, title: "Mine", tags: ["tree"], folder: nil, description: "")
    }

    func signOut() async {
        for case let credential as OAuthUserCredential in ArcGISEnvironment.authenticationManager
            .arcGISCredentialStore.credentials
        {
            try? await credential.revokeToken()
        }
        ArcGISEnvironment.authenticationManager.arcGISCredentialStore.removeAll()
        await ArcGISEnvironment.authenticationManager.networkCredentialStore.removeAll()
    }
}

@MainActor
final class AppChallengeHandler: ArcGISAuthenticationChallengeHandler, NetworkAuthenticationChallengeHandler {
    let configurations = [
        OAuthUserConfiguration(
            portalURL: AppConfiguration.portalURL, clientID: AppConfiguration.clientID,
            redirectURL: AppConfiguration.oAuthRedirectURL)
    ]

    func handleArcGISAuthenticationChallenge(
        _ challenge: ArcGISAuthenticationChallenge
    ) async throws -> ArcGISAuthenticationChallenge.Disposition {
        if let configuration = configurations.first(where: { $0.canBeUsed(for: challenge.requestURL) }) {
            do {
                return .continueWithCredential(try await OAuthUserCredential.credential(for: configuration))
            } catch is CancellationError {
                return .cancel
            }
        }
        switch challenge.kind {
        case .oAuthOrToken, .token:
            return .continueWithCredential(
                try await TokenCredential.credential(for: challenge, username: "ana", password: "correct horse"))
        case .iap: return .continueWithoutCredential
        @unknown default: return .cancel
        }
    }

    func handleNetworkAuthenticationChallenge(
        _ challenge: NetworkAuthenticationChallenge
    ) async -> NetworkAuthenticationChallenge.Disposition {
        switch challenge.kind {
        case .serverTrust: .continueWithCredential(.serverTrust)
        case .basic, .digest, .ntlm, .negotiate:
            .continueWithCredential(.password(username: "name", password: "word"))
        default: .rejectProtectionSpace
        }
    }

    func isCancellation(_ error: any Error) -> Bool {
        switch error {
        case is ArcGISChallengeCancellationError: true
        case is CancellationError: true
        default: false
        }
    }
}
