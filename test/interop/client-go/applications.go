package main

import gitlab "gitlab.com/gitlab-org/api/client-go/v2"

func init() {
	register("applications", applications)
}

func applications(served core) (any, error) {
	service := served.root.Applications
	made, response, err := service.CreateApplication(&gitlab.CreateApplicationOptions{
		Name:        gitlab.Ptr("Deploy board"),
		RedirectURI: gitlab.Ptr("https://board.example.test/cb"),
		Scopes:      gitlab.Ptr("api read_user"),
	})
	if err != nil {
		return nil, err
	}
	list, _, err := service.ListApplications(&gitlab.ListApplicationsOptions{})
	if err != nil {
		return nil, err
	}
	renewed, _, err := service.RenewApplicationSecret(made.ID)
	if err != nil {
		return nil, err
	}
	if _, err := service.DeleteApplication(made.ID); err != nil {
		return nil, err
	}
	_, again := service.DeleteApplication(made.ID)
	_, _, refused := service.CreateApplication(&gitlab.CreateApplicationOptions{Name: gitlab.Ptr("Half")})
	return fields{
		"made":    []any{response.StatusCode, made.ApplicationName, made.CallbackURL, made.Confidential, made.Scopes},
		"listed":  []any{len(list), list[0].ID == made.ID, list[0].ApplicationID == made.ApplicationID, list[0].Secret},
		"renewed": []any{renewed.ApplicationID == made.ApplicationID, renewed.Secret != "" && renewed.Secret != made.Secret},
		"again":   refusal(again),
		"refused": refusal(refused),
	}, nil
}
