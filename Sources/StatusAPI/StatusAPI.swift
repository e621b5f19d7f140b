// StatusAPI
