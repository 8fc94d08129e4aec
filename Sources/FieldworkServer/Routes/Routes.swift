extension Route {
    /// Every operation of the server.
    static let all: [Route] =
        serverRoutes + catalogueRoutes + serviceRoutes + layerRoutes + editRoutes + validationRoutes + attachmentRoutes
        + uploadRoutes
        + replicaRoutes + conflictRoutes + mapRoutes + vectorTileRoutes + ogcRoutes + geocodeRoutes
        + administrationRoutes
        + signInRoutes + portalRoutes + appRoutes + contentRoutes + ownedItemRoutes + homeRoutes
}
